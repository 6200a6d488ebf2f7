"""Maps from one language's vector space into another's: methods, retrieval, control spaces."""
