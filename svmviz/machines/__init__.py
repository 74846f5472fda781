"""The machines: one a file. Each builds a dual problem and reads the model back; none has a solver."""
