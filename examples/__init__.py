"""Programs to try teller on."""
