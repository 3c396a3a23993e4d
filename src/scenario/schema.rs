//! A scenario file and a policy as JSON Schemas (2020-12), for editors: made from the same forms that read a file.
//! What a schema cannot say (names that must exist, what excludes what) `faultlab check` says.

use super::findings::{Knob, Shape, Unstated};
use super::{DRAWN_TIME, OWN_KEYS, knobs};
use crate::trace::{CANDIDATE, COMMON, Field, Kind, Unit};
use serde_json::{Map, Value, json};

/// The dialect of every schema.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a scenario file. Keys that the file must have are only asked for where the file is played as it
/// stands; a variant may state any part of it.
pub fn scenario_schema() -> Value {
    let mut root = Table::of(knobs());
    let drawn = root.take(DRAWN_TIME);
    let mut variant = root.take("variant");
    let expect = root.take("expect");
    let own: Vec<(String, Table)> = OWN_KEYS.iter().map(|key| ((*key).to_owned(), root.take(key))).collect();
    let mut definitions = Map::new();
    definitions.insert("drawn_time".to_owned(), drawn.schema(Demand::Complete));
    definitions.insert("pattern".to_owned(), pattern());
    let mut world = Map::new();
    for (key, table) in &root.entries {
        definitions.insert(key.clone(), table.schema(Demand::Partial));
        world.insert(key.clone(), json!({ "$ref": format!("#/$defs/{key}") }));
    }
    let played = root.demands().unwrap_or(Value::Bool(true));
    let mut file =
        Table { entries: own.into_iter().filter(|(_, table)| table.knob.is_some()).collect(), ..root };
    variant.is_list = false;
    let mut variant = variant.schema(Demand::Complete);
    properties(&mut variant).extend(world.clone());
    let mut schema = file.schema(Demand::Complete);
    file.entries.clear();
    properties(&mut schema).extend(world);
    properties(&mut schema).insert("format".to_owned(), json!({ "const": 1 }));
    properties(&mut schema).insert("variant".to_owned(), json!({ "type": "array", "items": variant }));
    properties(&mut schema).insert("expect".to_owned(), expect.schema(Demand::Complete));
    let head = [("$schema", json!(DIALECT)), ("title", json!("A scenario of faultlab"))];
    let not_played = json!({ "properties": { "base": { "const": false } }, "required": ["base"] });
    let rules = [("if", not_played), ("else", played), ("$defs", Value::Object(definitions))];
    if let Value::Object(schema) = &mut schema {
        schema.extend(head.into_iter().chain(rules).map(|(key, value)| (key.to_owned(), value)));
    }
    schema
}

/// The schema of a policy: the table `[policy]` of a file.
pub fn policy_schema() -> Value {
    let mut schema = Table::of(knobs()).take("policy").schema(Demand::Complete);
    if let Value::Object(schema) = &mut schema {
        schema.insert("$schema".to_owned(), json!(DIALECT));
        schema.insert("title".to_owned(), json!("A policy of faultlab"));
    }
    schema
}

/// Whether keys that must be there are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    Complete,
    Partial,
}

/// A table of knobs and of tables, or a knob alone.
#[derive(Default)]
struct Table {
    knob: Option<Knob>,
    is_list: bool,
    entries: Vec<(String, Table)>,
}

impl Table {
    fn of(knobs: Vec<Knob>) -> Table {
        let mut root = Table::default();
        for knob in knobs {
            let path = knob.path.clone();
            let mut at = &mut root;
            for part in path.split('.') {
                let key = part.trim_end_matches("[]");
                at = at.entry(key);
                at.is_list |= key != part;
            }
            at.knob = Some(knob);
        }
        root
    }

    fn entry(&mut self, key: &str) -> &mut Table {
        let known = self.entries.iter().position(|entry| entry.0 == key);
        let at = known.unwrap_or_else(|| {
            self.entries.push((key.to_owned(), Table::default()));
            self.entries.len() - 1
        });
        &mut self.entries[at].1
    }

    /// Takes the entry of this key out; an empty one if there is none.
    fn take(&mut self, key: &str) -> Table {
        let at = self.entries.iter().position(|entry| entry.0 == key);
        at.map(|at| self.entries.remove(at).1).unwrap_or_default()
    }

    fn is_required(&self) -> bool {
        self.knob.as_ref().is_some_and(|knob| knob.unstated == Unstated::Problem)
    }

    fn required(&self) -> Vec<&str> {
        self.entries.iter().filter(|entry| entry.1.is_required()).map(|entry| entry.0.as_str()).collect()
    }

    fn schema(&self, demand: Demand) -> Value {
        let mut schema = match (&self.knob, self.entries.is_empty()) {
            (Some(knob), true) => value(knob),
            (Some(Knob { shape: Shape::Open, .. }), false) => {
                json!({ "anyOf": [{ "type": ["string", "integer", "boolean", "array"] }, self.object(demand)] })
            }
            (Some(_) | None, _) => self.object(demand),
        };
        if let (Some(knob), Value::Object(schema)) = (&self.knob, &mut schema) {
            schema.insert("description".to_owned(), Value::String(description(knob)));
        }
        if self.is_list { json!({ "type": "array", "items": schema }) } else { schema }
    }

    fn object(&self, demand: Demand) -> Value {
        let properties: Map<String, Value> =
            self.entries.iter().map(|(key, table)| (key.clone(), table.schema(demand))).collect();
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        let required = self.required();
        if let (Demand::Complete, false, Value::Object(schema)) = (demand, required.is_empty(), &mut schema) {
            schema.insert("required".to_owned(), json!(required));
        }
        schema
    }

    /// Nothing but the keys that must be there, at any depth; `None` if there are none.
    fn demands(&self) -> Option<Value> {
        let inner = self.entries.iter().filter_map(|(key, table)| Some((key.clone(), table.demands()?)));
        let (inner, required) = (inner.collect::<Map<_, _>>(), self.required());
        if inner.is_empty() && required.is_empty() {
            return None;
        }
        let mut schema = Map::new();
        if !inner.is_empty() {
            schema.insert("properties".to_owned(), Value::Object(inner));
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        Some(if self.is_list { json!({ "items": schema }) } else { Value::Object(schema) })
    }
}

fn properties(schema: &mut Value) -> &mut Map<String, Value> {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.expect("a table has properties")
}

/// The schema of a knob's value.
fn value(knob: &Knob) -> Value {
    let mut schema = match &knob.shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Whole => json!({ "type": "integer", "minimum": 0 }),
        Shape::TextOrWhole => json!({ "type": ["string", "integer"] }),
        Shape::Switch => json!({ "type": "boolean" }),
        Shape::Words(words) => json!({ "enum": words }),
        Shape::ListOfWords(words) => json!({ "type": "array", "items": { "enum": words } }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Time => json!({ "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/drawn_time" }] }),
        Shape::Table => json!({ "type": "object" }),
        Shape::Policy => json!({ "$ref": "#/$defs/policy" }),
        Shape::Pattern => json!({ "$ref": "#/$defs/pattern" }),
        Shape::Patterns => json!({ "type": "array", "minItems": 2, "items": { "$ref": "#/$defs/pattern" } }),
        Shape::Open => json!({ "type": ["string", "integer", "boolean", "array", "object"] }),
    };
    let default = match (knob.unstated, &knob.shape) {
        (Unstated::Default(text), Shape::Whole | Shape::Switch) => serde_json::from_str(text).ok(),
        (Unstated::Default(text), _) => Some(json!(text)),
        (Unstated::Absent | Unstated::Inherited | Unstated::Problem, _) => None,
    };
    if let (Some(default), Value::Object(schema)) = (default, &mut schema) {
        schema.insert("default".to_owned(), default);
    }
    schema
}

/// What it does, what it wants, and what it should not be.
fn description(knob: &Knob) -> String {
    let mut text = format!("{} Wants {}.", knob.doc, knob.wants);
    for (value, incident, law) in &knob.wrong {
        let law = if law.is_empty() { String::new() } else { format!(" (breaks {law})") };
        text.push_str(&format!(" Wrong: {value}, {incident}{law}."));
    }
    text
}

/// An event and what its fields must be. Times and money may have their unit, so every value may be a text.
fn pattern() -> Value {
    let events: Vec<&str> = Kind::ALL.iter().map(|kind| kind.label()).collect();
    let candidate = demands(CANDIDATE);
    let mut all = Map::from_iter([("event".to_owned(), json!({ "enum": events }))]);
    let mut rules = Vec::new();
    for kind in Kind::ALL {
        let mut keys = vec!["event"];
        for field in COMMON.iter().chain(kind.fields()) {
            if field.unit() == Unit::List {
                keys.push("candidate");
            } else {
                keys.push(field.label());
                all.insert(field.label().to_owned(), demand());
            }
        }
        rules.push(json!({
            "if": { "properties": { "event": { "const": kind.label() } }, "required": ["event"] },
            "then": { "propertyNames": { "enum": keys } },
        }));
    }
    all.insert("candidate".to_owned(), candidate);
    json!({
        "type": "object", "properties": all, "required": ["event"], "additionalProperties": false, "allOf": rules,
    })
}

fn demands(fields: &[Field]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.label().to_owned(), demand())).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn demand() -> Value {
    json!({ "type": ["string", "integer"] })
}
