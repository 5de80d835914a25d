"""Where rows come from: tables, files, readers, results of other queries, several of them merged; and the order of their rows."""
