"""Pictures of results, in two steps.

`prepare_*` turns a result into plain arrays, positions and labels; `draw_*` turns those into a
matplotlib Figure. Nothing is ever shown; `perfmodel.plots.saving.save` writes a file. matplotlib
is imported where something is drawn and nowhere else.
"""
