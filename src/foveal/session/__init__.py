"""The shell around the pipeline: `fit` without a store, `Foveal` and `Session` with one."""
