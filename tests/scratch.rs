#[test]
fn scratch() {
    let p = std::fs::read("/tmp/a.toml").unwrap();
    match faultlab::scenario::load_bytes("a.toml", &p) {
        Ok(s) => println!("{s:?}"),
        Err(e) => println!("{e}"),
    }
}
