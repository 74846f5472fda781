"""The lesson."""

from svmviz.ui import page

page.setup("pages/1_SMO_step_by_step.py", "Which pair does SMO move, and why?")
