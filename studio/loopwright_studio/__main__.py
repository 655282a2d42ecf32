"""`python -m loopwright_studio` is the command `loopwright`."""

from loopwright_studio.cli import main

main()
