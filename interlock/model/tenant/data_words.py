"""What the keys of all kinds of data are described with."""

ROTATE = (
    "Rotate with an overlap: `[1]`, then `[1, 2]` while whoever uses it changes to the new one, then `[2]`, and the "
    "first is dead."
)

KEPT_DATA = "What happens to the data when it is asked for no longer; by default what the request says for all."
