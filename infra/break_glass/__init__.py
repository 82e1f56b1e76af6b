"""Changes by hand, past `interlock`: what may be done, who says that it is done, and how its differences are judged."""
