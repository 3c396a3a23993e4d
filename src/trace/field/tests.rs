use super::*;

#[test]
fn a_field_is_found_by_its_key_and_no_key_is_used_twice() {
    for field in Field::ALL {
        assert_eq!(Field::named(field.label()), Some(*field), "{}", field.label());
    }
    assert_eq!(Field::named("rout"), None);
}

#[test]
fn the_unit_is_in_the_name() {
    for field in Field::ALL {
        let label = field.label();
        assert_eq!(label.contains("_usd"), field.unit() == Unit::Money, "{label}");
        assert_eq!(label.ends_with("_ns"), matches!(field.unit(), Unit::Time | Unit::Span), "{label}");
    }
}

#[test]
fn a_value_reads_as_it_is_written() {
    let number = |field: Field, text| match field.parse(text) {
        Some(Value::Number(n)) => Some(n),
        Some(Value::Text(_)) | None => None,
    };
    assert_eq!(number(Field::Cap, "0.050"), Some(50_000_000_000));
    assert_eq!(number(Field::Cap, "$3"), Some(3_000_000_000_000));
    assert_eq!(number(Field::Cap, "0.000000000001"), Some(1));
    assert_eq!(number(Field::At, "80000000"), Some(80_000_000));
    for wrong in ["", "-1", "+1", "1e3", "0.0000000000001", "1.", ".5", "99999999999999999999"] {
        assert_eq!(Field::Cap.parse(wrong), None, "{wrong:?}");
    }
    for wrong in ["", "-1", "+1", "80 ms", "1.5", "99999999999999999999"] {
        assert_eq!(Field::At.parse(wrong), None, "{wrong:?}");
    }
}
