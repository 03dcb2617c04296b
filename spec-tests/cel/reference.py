"""Evaluates expressions with CEL-C++: reads each as a line of JSON, and writes its result as a line.

The first line has the variables, which have any type. A result is a value with the types of everything in it, `refused` by the
parser or the checker, or `failed`.
"""
import json, struct, sys

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

def shown(of):
    kind, value = str(of.type()), of.value()
    if kind == "ERROR": return "failed"
    if value is None: return "null"
    if isinstance(value, bool): return str(value).lower()
    if kind in ("INT", "UINT"): return str(value) + ("u" if kind == "UINT" else "")
    if isinstance(value, float): return "nan" if value != value else "d" + struct.pack(">d", value).hex()
    if isinstance(value, str): return "s" + value.encode().hex()
    if isinstance(value, (bytes, bytearray)): return "b" + bytes(value).hex()
    if kind.startswith("LIST"): return "[" + ",".join(map(shown, value)) + "]"
    if kind.startswith("MAP"): return "{" + ",".join(sorted(key(k) + ":" + shown(v) for k, v in value.items())) + "}"
    return "other " + kind

def key(value):
    return str(value).lower() if isinstance(value, bool) else "s" + value.encode().hex() if isinstance(value, str) else str(value)

def main():
    inputs = json.loads(sys.stdin.readline())
    extensions = [ext_bindings.ExtBindings(), ext_encoders.ExtEncoders(), ext_math.ExtMath(), ext_optional.ExtOptional(),
                  ext_strings.ExtStrings()]
    environment = cel.NewEnv(variables={name: cel.Type.DYN for name in inputs}, extensions=extensions)
    for line in sys.stdin:
        try:
            compiled = environment.compile(json.loads(line))
        except RuntimeError:
            print("refused", flush=True)
            continue
        try:
            print(shown(compiled.eval(data=inputs)), flush=True)
        except (RuntimeError, ValueError):
            print("failed", flush=True)

main()
