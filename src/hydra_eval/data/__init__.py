"""From what a task says about its data set to the documents that are evaluated.

`resolve` finds where the rows are, `load` reads them, `shelf` does so once per run, `documents` numbers them and
`selection` chooses among them; `facts` is what the results file says about all of it.
"""
