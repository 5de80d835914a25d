"""The automaton of an event pattern as the SASE+ paper draws it (section 3.2, Fig. 2): what people look at, not what is executed."""
