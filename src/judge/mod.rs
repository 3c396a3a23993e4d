//! Floor 5: the judge. It sees no gateway and believes none: it recomputes everything from the world's facts.

pub mod book;
pub mod laws;
