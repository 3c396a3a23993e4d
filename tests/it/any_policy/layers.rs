//! Gateways above the one of a random world: mostly none.

use super::knobs::policy;
use super::menu::{Choices, choices};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fmt::Write;

#[derive(Clone, Debug)]
pub(super) struct Layer {
    busy: Choices,
    any: Choices,
    deadline: Index,
}

/// The deadlines that a layer's layer below gives itself, if it gets none.
const ITS_OWN: [Option<&str>; 6] = [None, None, Some("1 s"), Some("300 ms"), Some("0 ms"), Some("60 s")];

pub(super) fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let layer = (choices(6), choices(2), any::<Index>());
    let layer = layer.prop_map(|(busy, any, deadline)| Layer { busy, any, deadline });
    prop_oneof![2 => Just(Vec::new()), 1 => vec(layer, 1..3)]
}

/// Outermost first, as long as that breaks no law: whoever stops waiting says so, and there is no budget over all.
pub(super) fn declare(layers: &[Layer], t: &mut String) {
    for (at, layer) in layers.iter().enumerate() {
        let policy = policy(&layer.busy, &layer.any);
        let policy = policy.lines().filter(|line| !line.starts_with("policy.dialect"));
        let policy: String = policy.map(|line| format!("{line}\n")).collect();
        let own = ITS_OWN[layer.deadline.index(ITS_OWN.len())].map_or(String::new(), |length| {
            format!("passes.deadline = false\npasses.own_deadline = \"{length}\"\n")
        });
        let _ = write!(t, "\n[[layer]]\nname = \"up{at}\"\n{own}{policy}");
    }
    if !layers.is_empty() {
        let _ = write!(t, "\n[stack]\ncalls_max = 4294967295\n");
    }
}
