"""Reports: the findings about an output as the gate reads them, and as the report shows them."""
