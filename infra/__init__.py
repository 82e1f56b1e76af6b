"""What a person, CI or Pulumi starts: the Pulumi program (`__main__`) and the `interlock` command (`cli`)."""
