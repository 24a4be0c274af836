export default [{ files: ["src/**/*.js"], rules: { "no-undef": "error", "eqeqeq": "warn" } }];
