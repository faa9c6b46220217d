"""lighteval task files: entries of a `TASKS_TABLE` become tasks of a run, with lighteval's own prompts and picks.

`names` and `load` read the files; `build` makes a `Task` of an entry; `lighteval/` stands in for lighteval's classes
where lighteval is not installed.
"""
