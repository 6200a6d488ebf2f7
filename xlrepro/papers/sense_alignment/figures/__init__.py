"""Tables that only the sense alignment paper's pages need."""
