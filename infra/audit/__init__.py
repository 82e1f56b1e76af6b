"""What a site's cloud really holds beside what was proved, in the words of a plan, and the report of it."""
