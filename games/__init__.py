"""Games between two players: rules, opponents, transcripts. `doors.py` says what each game offers."""
