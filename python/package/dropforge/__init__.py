"""Compile Tera, HCL and CEL templates once, and render them thousands of times.

>>> import dropforge
>>> template = dropforge.Engine().compile("hi {{ who }}", "hi.tera")
>>> template.render({"who": "you"})
'hi you'
"""

from ._errors import DropforgeError
from ._native import Artifact, Engine, Inputs, Table, Template, compile
from ._stamp import Stamp

__all__ = ["Artifact", "DropforgeError", "Engine", "Inputs", "Stamp", "Table", "Template", "compile"]
