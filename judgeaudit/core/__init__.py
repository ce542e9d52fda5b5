"""Ground floor: errors, records, the verdict table, the registry and the data rooms."""
