"""Speed of xlrepro's layers and loaders, beside a peer where there is one."""
