"""What a cloud really holds, read by lists, beside what plans say: drift, what is foreign, what is orphaned."""
