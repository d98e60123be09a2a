/**
 * Page of the API reference. It shows the OpenAPI document of the service with Swagger UI. All files are
 * loaded from the service by relative paths, so that the page also works if a proxy adds a prefix to the
 * paths.
 */

export const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Verdict: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This reference needs JavaScript. The description it shows is at <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

/**
 * Script of the page. It is a separate file because the content security policy of the page allows no inline
 * scripts. The validator of Swagger UI is disabled because it is a service on another host.
 */
export const REFERENCE_START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  displayRequestDuration: true,
  defaultModelExpandDepth: 3,
  defaultModelsExpandDepth: 0,
})
`
