// For eslint of any version with flat configurations; it needs no package beside it.
const pageNames = ["document", "matchMedia", "addEventListener", "requestAnimationFrame", "cancelAnimationFrame",
  "getComputedStyle", "devicePixelRatio", "ResizeObserver", "HTMLInputElement", "Blob", "Response", "TextDecoder",
  "DecompressionStream", "atob", "window"];

export default [{
  files: ["**/*.js"],
  languageOptions: {
    ecmaVersion: 2022,
    sourceType: "module",
    globals: Object.fromEntries(pageNames.map(name => [name, "readonly"])),
  },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    "constructor-super": "error", "eqeqeq": "error", "for-direction": "error", "getter-return": "error",
    "no-case-declarations": "error", "no-class-assign": "error", "no-compare-neg-zero": "error",
    "no-cond-assign": "error", "no-const-assign": "error", "no-constant-condition": "error", "no-dupe-args": "error",
    "no-dupe-class-members": "error", "no-dupe-else-if": "error", "no-dupe-keys": "error", "no-duplicate-case": "error",
    "no-empty": "error", "no-eval": "error", "no-fallthrough": "error", "no-func-assign": "error",
    "no-global-assign": "error", "no-implied-eval": "error", "no-import-assign": "error", "no-new-func": "error",
    "no-prototype-builtins": "error", "no-redeclare": "error", "no-self-assign": "error", "no-shadow": "error",
    "no-sparse-arrays": "error", "no-this-before-super": "error", "no-undef": "error", "no-unreachable": "error",
    "no-unsafe-finally": "error", "no-unused-private-class-members": "error", "no-unused-vars": "error",
    "no-use-before-define": ["error", { functions: false, classes: false }], "no-useless-escape": "error",
    "no-var": "error", "prefer-const": "error", "use-isnan": "error", "valid-typeof": "error",
  },
}];
