"""Who and what a memory is about: entities, their names, and what joins them.

`naming` and `resolve` are pure and serve the pipeline; `registry` looks entities up; `declaring`
carries out what people say about them, in runs that can be undone; `tools` has the functions
that agents call. Nothing is imported here, so that the pipeline loads no more than it needs.
"""
