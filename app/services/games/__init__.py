"""Games against the judge: started, played move by move, ended by the rules, by resigning or by the clock."""
