"""`python -m dropforge`."""

from ._cli import main

main()
