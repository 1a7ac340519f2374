"""Getting started: a folder with settings and an example, what a finding means, and completion of the shell."""
