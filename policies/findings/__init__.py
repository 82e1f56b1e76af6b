"""What becomes of an answer: causes, the smallest change, waivers, reports, and explaining at length."""
