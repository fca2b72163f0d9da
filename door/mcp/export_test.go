package mcp

// Tokens estimates how many tokens a language model needs for a text.
var Tokens = tokens
