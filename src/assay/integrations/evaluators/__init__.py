"""assay as a scorer, metric or assertion of evaluation tools, each loaded when it is imported.

`assay.integrations.evaluators.inspect_ai`, `.deepeval`, `.ragas`, `.mlflow` and `.promptfoo`.
"""
