//! Every kind of mistake has a file, and every problem of a file is told at once: with its line, a caret and,
//! where there is one, a way out.

use faultlab::scenario::{FILE_MAX, load_bytes};
use std::path::Path;

#[test]
fn every_mistake_is_told_with_its_line_and_a_way_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-scenarios");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10, "the bad scenarios are there");
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&file).unwrap();
        check(&name, &format!("tests/bad-scenarios/{name}.toml"), &bytes);
    }
}

#[test]
fn what_is_not_utf_8_is_told_where() {
    check("invalid-utf-8", "latin-1.toml", b"format = 1\ntitle = \"Mod\xe8le\"\n");
}

#[test]
fn a_file_of_ten_megabytes_is_not_read() {
    let large = vec![b'#'; 10 << 20];
    check("too-large", "large.toml", &large);
    let fits = b"# \n".repeat(FILE_MAX / 3);
    assert!(load_bytes("fits.toml", &fits).unwrap_err().plain().contains("only comments"));
}

/// The problems of a file read as in the golden of this name.
fn check(name: &str, path: &str, bytes: &[u8]) {
    let problems = load_bytes(path, bytes).expect_err("a bad scenario is refused");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../golden/bad");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, problems.plain()));
}
