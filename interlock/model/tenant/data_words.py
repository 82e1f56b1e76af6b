"""What the keys of all kinds of data are described with."""

KEPT_DATA = "What happens to the data when it is asked for no longer; by default what the request says for all."
