//! What a blown fuse stops, from the file to the verdict.

use crate::support::failures;

/// One question of a task waits for its second call when another repeats itself once too often.
fn repeated(promises: &str) -> Vec<String> {
    let asked = |name: &str, at: u64, content: &str| {
        format!(
            "[[arrivals]]\nname = \"{name}\"\nfirst = \"{at} ms\"\ngap = \"1 s\"\ncount = 1\ntask = \"turn\"\n\
             content = \"{content}\"\ntokens = {{ input = 1000, output_max = 100 }}\n"
        )
    };
    let asks = [("waits", 0, "one"), ("once", 200, "two"), ("again", 400, "two"), ("late", 600, "three")];
    let asks: String = asks.map(|(name, at, content)| asked(name, at, content)).concat();
    let text = format!(
        "format = 1\ntitle = \"A task repeats itself\"\n[policy]\nfuse.identical_per_task = 1\n\
         retry.backoff = {{ fixed = \"1 s\" }}\nremedy.overload = \"wait_same_then_fallback\"\n\
         [[task]]\nname = \"turn\"\n[[route]]\nname = \"model\"\n\
         price = {{ input = \"$1.00/Mtok\", output = \"$8.00/Mtok\" }}\n\
         upstream.replies = [{{ after = \"100 ms\", status = 503 }}, {{ after = \"100 ms\" }}]\n{asks}{promises}"
    );
    failures("repeated", &text)
}

#[test]
fn a_fuse_that_blows_at_repetition_stops_who_waits_at_once_and_who_comes_before_a_look() {
    let failed = repeated(
        "[[expect]]\nname = \"it_blows\"\nfirst = { event = \"fuse_blew\", request = \"again/1\" }\nat = \"400 ms\"\n\
         [[expect]]\nname = \"who_waits_is_stopped\"\n\
         first = { event = \"replied\", request = \"waits/1\", fuse = \"identical_per_task\", attempts = 1 }\nat = \"400 ms\"\n\
         [[expect]]\nname = \"who_comes_is_stopped\"\n\
         first = { event = \"replied\", request = \"late/1\", fuse = \"identical_per_task\" }\nat = \"600 ms\"\n\
         [[expect]]\nname = \"nothing_is_looked_for\"\nnever = { event = \"considered\", request = \"late/1\" }\n",
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
