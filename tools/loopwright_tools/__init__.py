"""Tools that ship with Loopwright."""
