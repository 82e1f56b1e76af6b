"""What a plan shares with other plans: boundaries, neighbours, versions, what is applied."""
