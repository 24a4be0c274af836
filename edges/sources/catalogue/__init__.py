"""The catalogue: rules as data, one TOML file a family group."""
