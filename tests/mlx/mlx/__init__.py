"""A stand-in for MLX, as far as the modules that qkgen writes use it. See core.py."""
