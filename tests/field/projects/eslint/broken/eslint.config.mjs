export default [
  { files: ["src/**/*.js"], rules: { "no-undef": "error", "no-unused-vars": "error", "eqeqeq": "warn", "no-dupe-keys": "error" } },
];
