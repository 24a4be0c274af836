typedef unknown_type money;
