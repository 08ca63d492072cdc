//! The header and `types.rs` say the same.
//!
//! The header's own text gives the names: of every struct, member, typedef and constant. Each must be in the tables
//! below, so that nothing can be added to the header and forgotten here. A C compiler gives the sizes, alignments,
//! offsets and values; the members' C types, spelled in Rust, must be the types of the Rust members.

use kvdyno_abi as abi;
use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::mem::{align_of, offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADER: &str = include_str!("../include/kvdyno.h");

// ---- the tables: what there is, in Rust

struct Struct {
    c_name: &'static str,
    size: usize,
    align: usize,
    members: Vec<Member>,
}

struct Member {
    c_name: &'static str,
    offset: usize,
    size: usize,
    rust_type: &'static str,
}

/// The size and the type of a member, from a path to it that is never followed.
fn member_type<S, M>(_path: impl Fn(*const S) -> *const M) -> (usize, &'static str) {
    (size_of::<M>(), type_name::<M>())
}

macro_rules! structs {
    ($($c_name:ident = $rust:ty { $($member:ident $(: $rust_member:ident)?),* $(,)? })*) => {
        vec![$(Struct {
            c_name: stringify!($c_name),
            size: size_of::<$rust>(),
            align: align_of::<$rust>(),
            members: vec![$(structs!(@member $rust, $member $(, $rust_member)?)),*],
        }),*]
    };
    (@member $rust:ty, $c:ident) => { structs!(@member $rust, $c, $c) };
    (@member $rust:ty, $c:ident, $member:ident) => {{
        // SAFETY: `member_type` does not call it.
        let (size, rust_type) = member_type(|s: *const $rust| unsafe { &raw const (*s).$member });
        let c_name = stringify!($c).trim_start_matches("r#");
        Member { c_name, offset: offset_of!($rust, $member), size, rust_type }
    }};
}

fn structs() -> Vec<Struct> {
    structs! {
        kvdyno_bytes = abi::Bytes { data, size }
        kvdyno_text = abi::Text { data, capacity }
        kvdyno_option = abi::OptionDecl {
            name, r#type: kind, flags, default_value, choices, minimum, maximum, help
        }
        kvdyno_value = abi::OptionValue { integer, real, text }
        kvdyno_preset = abi::Preset { name, options, help }
        kvdyno_config = abi::Config {
            size, create, path, library, durability, sync_period_ms, compression, sessions, cache_bytes,
            write_buffer_bytes, records, key_size, value_size, options, option_count, prefix_size, processes,
            session_durabilities
        }
        kvdyno_host = abi::Host { size, reserved, context, recall }
        kvdyno_batch_entry = abi::BatchEntry { kind, reserved, key, value }
        kvdyno_capabilities = abi::Capabilities { size, durabilities, capabilities, compressions, reserved }
        kvdyno_counters = abi::Counters { size, reserved, flushed_bytes, compacted_bytes, stalled_ns }
        kvdyno_cursor_options = abi::CursorOptions { size, keys_only, from, to, prefix }
        kvdyno_engine = abi::Engine {
            size, abi_version, name, summary, origin, capabilities, durabilities, compressions, min_key_size,
            max_key_size, max_value_size, options, option_count, option_size, presets, preset_count, preset_size,
            probe, settings, open, close, session_open, session_close, session_error, get, put, remove, write,
            multi_get, read_modify_write, begin, commit, abort, cursor_open, cursor_close, cursor_seek, cursor_next,
            cursor_previous, flush, compact, wait_idle, statistics, destroy, effective_capabilities,
            counters, delete_range, contains, insert_if_absent,
            cursor_open_with, set_durability
        }
    }
}

macro_rules! constants {
    ($($name:ident)*) => {
        BTreeMap::from([$((concat!("KVDYNO_", stringify!($name)), i128::from(abi::$name))),*])
    };
}

fn constants() -> BTreeMap<&'static str, i128> {
    constants! {
        ABI_VERSION
        OK MISS CONFLICT EXISTS ERROR UNSUPPORTED NO_SPACE NO_LIBRARY
        DURABILITY_NONE DURABILITY_PROCESS DURABILITY_PERIODIC DURABILITY_COMMIT
        COMPRESSION_NONE COMPRESSION_SNAPPY COMPRESSION_LZ4 COMPRESSION_ZSTD COMPRESSION_ZLIB
        OPTION_BOOL OPTION_INTEGER OPTION_SIZE OPTION_REAL OPTION_TEXT OPTION_CHOICE OPTION_SCALES
        CAN_SCAN CAN_SCAN_REVERSE CAN_DELETE CAN_BATCH CAN_MULTI_GET CAN_TRANSACT CAN_SNAPSHOT CAN_READ_MODIFY_WRITE
        CAN_WRITE_CONCURRENTLY CAN_SHARE_PROCESSES CAN_RAW_DEVICE CAN_COMPARE CAN_PARTITION CAN_PREFIX
        IS_MAPPED IS_VOLATILE IS_SINGLE IS_BOUND CAN_SET_DURABILITY CAN_SCAN_PREFIX CAN_COUNT
        READS_REPEAT IS_SERIALIZABLE
        CAN_DELETE_RANGE CAN_CONTAIN CAN_INSERT_IF_ABSENT CAN_BOUND
        CAN_SCAN_KEYS ABSENT
        PUT DELETE READ_WRITE READ_ONLY FORWARD BACKWARD
    }
}

/// The header's other types in Rust.
fn named_types() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("kvdyno_status", type_name::<abi::Status>()),
        ("kvdyno_emit", type_name::<abi::Emit>()),
        ("kvdyno_update_fn", type_name::<abi::UpdateFn>()),
        ("kvdyno_database", type_name::<abi::Database>()),
        ("kvdyno_session", type_name::<abi::Session>()),
        ("kvdyno_cursor", type_name::<abi::Cursor>()),
        ("void", type_name::<std::ffi::c_void>()),
        ("char", type_name::<std::ffi::c_char>()),
        ("int32_t", "i32"),
        ("int64_t", "i64"),
        ("uint32_t", "u32"),
        ("uint64_t", "u64"),
        ("size_t", "usize"),
        ("double", "f64"),
        ("kvdyno_bytes", type_name::<abi::Bytes>()),
        ("kvdyno_text", type_name::<abi::Text>()),
        ("kvdyno_option", type_name::<abi::OptionDecl>()),
        ("kvdyno_value", type_name::<abi::OptionValue>()),
        ("kvdyno_preset", type_name::<abi::Preset>()),
        ("kvdyno_config", type_name::<abi::Config>()),
        ("kvdyno_host", type_name::<abi::Host>()),
        ("kvdyno_batch_entry", type_name::<abi::BatchEntry>()),
        ("kvdyno_capabilities", type_name::<abi::Capabilities>()),
        ("kvdyno_counters", type_name::<abi::Counters>()),
        ("kvdyno_cursor_options", type_name::<abi::CursorOptions>()),
        ("kvdyno_engine", type_name::<abi::Engine>()),
    ])
}

// ---- the header's text

/// The header without comments, preprocessor lines and C++'s frame; blanks are single.
fn declarations() -> String {
    let mut text = String::new();
    let mut rest = HEADER;
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").expect("a comment that ends").1;
    }
    text.push_str(rest);
    let frame = |line: &&str| !line.trim_start().starts_with('#') && !line.contains("extern \"C\"");
    let text: Vec<&str> = text.lines().filter(frame).flat_map(str::split_whitespace).collect();
    text.join(" ")
}

/// Name and C type of each member of each struct and union.
fn structs_of_header() -> BTreeMap<String, BTreeMap<String, String>> {
    let text = declarations();
    let mut structs = BTreeMap::new();
    for keyword in ["typedef struct ", "typedef union "] {
        for part in text.split(keyword).skip(1) {
            let (name, body) = part.split_once(' ').expect("a name");
            let Some(body) = body.strip_prefix("{ ") else { continue };
            let body = body.split_once('}').expect("a body that ends").0;
            let members = body.split(';').map(str::trim).filter(|m| !m.is_empty()).map(declared).collect();
            structs.insert(name.to_owned(), members);
        }
    }
    structs
}

/// Name and C type of a declaration: of `const char *name`, or of a pointer to a function.
fn declared(declaration: &str) -> (String, String) {
    if let Some((result, rest)) = declaration.split_once("(*") {
        let (name, arguments) = rest.split_once(')').expect("a function's name");
        return (name.to_owned(), format!("{result}(*){arguments}"));
    }
    let start = declaration.rfind([' ', '*']).expect("a type and a name") + 1;
    (declaration[start..].to_owned(), declaration[..start].trim().to_owned())
}

/// Typedefs of pointers to functions, and of plain types.
fn typedefs_of_header() -> BTreeMap<String, String> {
    let text = declarations();
    let typedefs = text.split(';').filter_map(|statement| statement.trim().strip_prefix("typedef "));
    typedefs.filter(|t| !t.starts_with("struct ") && !t.starts_with("union ")).map(declared).collect()
}

fn constants_of_header() -> BTreeSet<&'static str> {
    let defines = HEADER.lines().filter_map(|line| line.trim_start().strip_prefix("#define "));
    defines.map(|define| define.split_whitespace().next().expect("a name")).filter(|&name| name != "KVDYNO_H").collect()
}

/// A C type in Rust's words, as `type_name` spells them.
fn in_rust(c_type: &str, names: &BTreeMap<&str, &str>) -> String {
    if let Some((result, arguments)) = c_type.split_once("(*)") {
        let arguments = arguments.trim().trim_start_matches('(').trim_end_matches(')');
        let arguments: Vec<String> = arguments.split(',').map(|a| in_rust(&declared(a.trim()).1, names)).collect();
        let result = match result.trim() {
            "void" => String::new(),
            result => format!(" -> {}", in_rust(result, names)),
        };
        return format!("unsafe extern \"C\" fn({}){result}", arguments.join(", "));
    }
    if let Some(pointed) = c_type.trim().strip_suffix('*') {
        return match pointed.trim().strip_prefix("const ") {
            Some(pointed) => format!("*const {}", in_rust(pointed, names)),
            None => format!("*mut {}", in_rust(pointed, names)),
        };
    }
    let c_type = c_type.trim();
    (*names.get(c_type).unwrap_or_else(|| panic!("C type {c_type} is not in this test's table"))).to_owned()
}

// ---- the compilers

/// A compiler from the environment, as make and cargo take it, or the system's.
fn compiler(variable: &str, default: &str) -> Command {
    let words = std::env::var(variable).unwrap_or_else(|_| default.into());
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    command.args(words).arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
    command
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn source(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("writing a source file");
    path
}

// ---- the tests

#[test]
fn every_name_of_the_header_is_covered() {
    let covered: BTreeMap<String, BTreeSet<String>> = structs()
        .iter()
        .map(|s| (s.c_name.to_owned(), s.members.iter().map(|m| m.c_name.to_owned()).collect()))
        .collect();
    let header: BTreeMap<String, BTreeSet<String>> =
        structs_of_header().into_iter().map(|(name, members)| (name, members.into_keys().collect())).collect();
    assert_eq!(covered, header, "structs and members: this test's, the header's");
    assert_eq!(constants().into_keys().collect::<BTreeSet<_>>(), constants_of_header(), "constants");
    let typedefs: BTreeSet<String> = typedefs_of_header().into_keys().collect();
    assert_eq!(typedefs, BTreeSet::from(["kvdyno_emit", "kvdyno_update_fn", "kvdyno_status"].map(str::to_owned)));
}

#[test]
fn every_member_and_argument_has_the_same_type() {
    let names = named_types();
    let header = structs_of_header();
    for s in structs() {
        for m in &s.members {
            let rust = m.rust_type.strip_prefix("core::option::Option<").and_then(|t| t.strip_suffix('>'));
            let c_type = &header[s.c_name][m.c_name];
            assert_eq!(in_rust(c_type, &names), rust.unwrap_or(m.rust_type), "{}.{}: {c_type}", s.c_name, m.c_name);
        }
    }
    for (name, c_type) in typedefs_of_header() {
        assert_eq!(in_rust(&c_type, &names), names[name.as_str()], "{name}: {c_type}");
    }
    let entry = declarations();
    let entry = entry.rsplit("))) ").next().expect("the entry").split_once("(void)").expect("the entry").0;
    let (name, result) = declared(entry);
    assert_eq!(name, abi::ENTRY);
    assert_eq!(format!("unsafe extern \"C\" fn() -> {}", in_rust(&result, &names)), type_name::<abi::EntryFn>());
}

#[test]
fn c_lays_everything_out_as_rust_does() {
    let mut program = String::from("#include <kvdyno.h>\n#include <stdio.h>\nint main(void) {\n");
    let mut expected = String::new();
    let mut fact = |what: &str, c: &str, rust: i128| {
        writeln!(program, "    printf(\"%s %lld\\n\", \"{what}\", (long long)({c}));").expect("a line");
        writeln!(expected, "{what} {rust}").expect("a line");
    };
    for Struct { c_name, size, align, members } in structs() {
        fact(&format!("sizeof {c_name}"), &format!("sizeof({c_name})"), size as i128);
        fact(&format!("alignof {c_name}"), &format!("_Alignof({c_name})"), align as i128);
        for m in members {
            let member = m.c_name;
            fact(&format!("offset {c_name}.{member}"), &format!("offsetof({c_name}, {member})"), m.offset as i128);
            fact(&format!("size {c_name}.{member}"), &format!("sizeof((({c_name} *)0)->{member})"), m.size as i128);
        }
    }
    for (name, value) in constants() {
        // As C's cast has it: a value that no `long long` can hold is negative.
        fact(name, name, i128::from(value as i64));
    }
    program.push_str("    return 0;\n}\n");

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (c, binary) = (source(&folder, "layout.c", &program), folder.path().join("layout"));
    run(compiler("CC", "cc").args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&binary).arg(c));
    let told = run(&mut Command::new(binary));
    for (c, rust) in told.lines().zip(expected.lines()) {
        assert_eq!(c, rust, "C's, Rust's");
    }
    assert_eq!(told.lines().count(), expected.lines().count());
}

#[test]
fn the_header_is_clean_c99_and_cpp() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "#include <kvdyno.h>\nconst kvdyno_engine *kvdyno_engine_v2(void) { return NULL; }\n";
    let strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
    let c = source(&folder, "header.c", text);
    run(compiler("CC", "cc").arg("-std=c99").args(strict).args(["-Wstrict-prototypes", "-Wc++-compat"]).arg(c));
    let cpp = source(&folder, "header.cc", text);
    for standard in ["-std=c++11", "-std=c++17"] {
        run(compiler("CXX", "c++").arg(standard).args(strict).arg("-Wold-style-cast").arg(&cpp));
    }
}
