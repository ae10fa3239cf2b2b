// Starts Swagger UI. Addresses are relative to /docs, so that they hold behind any path prefix.
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#description",
  deepLinking: true,
  filter: true,
  docExpansion: "none",
  validatorUrl: null, // its default asks another host
});
