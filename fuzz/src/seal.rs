//! Mutations of artifacts.

use dropforge::{Dialect, Engine};

#[path = "../../proptests/sealing.rs"]
mod sealing;

/// Templates of each language, for the artifacts that the mutations begin with.
const TEMPLATES: &[(Dialect, &str)] = &[
    (Dialect::Tower, "cd ${params.dir} && echo ${context.name}"),
    (Dialect::Tera, "a {{ x }} {{ a.b }} {{ l[0] }} {{ m[x] }} {{ 5000000000 }} {{ __tera_context }}"),
    (Dialect::Tera, "{% if x == 'v' and not n > 2 %}1{% elif x is defined %}2{% else %}3{% endif %}"),
    (Dialect::Tera, "{% for k, v in m %}{% for y in l %}{{ loop.index }}{{ y }}{% break %}{% endfor %}{% endfor %}"),
    (Dialect::Tera, "{% filter upper %}{% set z = [n, 'b'] %}{{ z | default(value='c') }}{% endfilter %}"),
    (
        Dialect::Tera,
        "{% macro f(a) %}{{ a }}{% if a > 0 %}{{ self::f(a=a - 1) }}{% endif %}{% endmacro %}{{ self::f(a=n) }}",
    ),
    (Dialect::Hcl, "a ${x}-${l[0]} %{ if n > 1 && x != \"\" ~} b %{ else } c %{ endif }${a.b ? \"1\" : 2}"),
    (Dialect::Hcl, "%{ for k, v in m ~} ${k}: %{ for y in l }${y + n}%{ endfor }%{ endfor }${join(\"-\", w...)}"),
    (
        Dialect::Hcl,
        "${try(m.z, \"no\")}${l.*.k[0]}${jsonencode({for k in w : k => [for i in l : i * 1e3 if i > 1]...})}",
    ),
    (Dialect::Cel, "{'a': l.map(y, y + n).filter(y, y > 3), 'b': x == 'v' && (1 / n > 0 || a.b), x: [1.5, 2u, b'x']}"),
    (Dialect::Cel, "m.size() > n && l.exists(y, y / (n - y) > 1) ? m.w.?z.orValue(1) : optional.none()"),
    (
        Dialect::CelYaml,
        "$schema: {n: integer}\n$let: {y: '${n + 1}'}\n$assert: n > 0\na-${x}: ${y}\nb: ['${l}', {$if: b, $then: [1], $else: 2}]\n",
    ),
    (
        Dialect::CelYaml,
        "c: {$for: 'k, v in m', $do: {'${k}': '${optional.none()}', f: '${k}'}}\nd: {$if: n > 5, $then: 1}\n---\ne: no\n",
    ),
];

/// Artifacts of each template alone, whole and stripped.
fn sealed() -> Vec<Vec<u8>> {
    let encode = |(at, strip): (usize, bool)| {
        let (dialect, text) = TEMPLATES[at];
        let engine = Engine::builder().template("t", text).build();
        engine.bundle([(dialect, "t")]).expect("it compiles").strip(strip).encode().expect("it is an artifact")
    };
    (0..TEMPLATES.len()).flat_map(|at| [(at, false), (at, true)]).map(encode).collect()
}

thread_local! {
    static SEALED: Vec<Vec<u8>> = sealed();
}

/// Mutates the first `size` bytes of `data`, which are an artifact or will become one, and returns the new size. If
/// `seal`, its checksum is right afterwards.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, seal: bool) -> usize {
    let choice = seed as usize;
    if !data[..size].windows(6).any(|bytes| bytes == b"digest") {
        return SEALED.with(|all| replace(data, &all[choice % all.len()]));
    }
    let (start, count) = sealing::words(&data[..size]);
    let size = if count > 0 && start + count * 4 <= size && choice % 2 == 0 {
        change_word(&mut data[start..start + count * 4], choice / 2);
        size
    } else {
        libfuzzer_sys::fuzzer_mutate(data, size, max_size)
    };
    if seal {
        sealing::reseal(&mut data[..size]);
    }
    size
}

/// Replaces `data` by as much of `bytes` as it has room for.
fn replace(data: &mut [u8], bytes: &[u8]) -> usize {
    let size = bytes.len().min(data.len());
    data[..size].copy_from_slice(&bytes[..size]);
    size
}

/// Changes one word of a table: its opcode, its operand, or both.
fn change_word(words: &mut [u8], choice: usize) {
    let count = words.len() / 4;
    let (at, choice) = (choice % count * 4, choice / count);
    let from = choice / 8 % count * 4;
    let word = u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
    let small = choice as u32 / 8;
    let word = match choice % 8 {
        0 => word.wrapping_add(1),
        1 => word.wrapping_sub(1),
        2 => word & !0xFF | small & 0x7F,
        3 => word & 0xFF | (small & 0x3F) << 8,
        4 => word.wrapping_add(0x100),
        5 => word.wrapping_sub(0x100),
        6 => word | 0xFFFF_FF00,
        _ => u32::from_le_bytes([words[from], words[from + 1], words[from + 2], words[from + 3]]),
    };
    words[at..at + 4].copy_from_slice(&word.to_le_bytes());
}
