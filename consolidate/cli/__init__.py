"""The command line: the verbs of the package for people and schedulers."""
