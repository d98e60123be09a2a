/**
 * Serves the web console from the build output of the `console` folder: a page and the files that it loads.
 * These files are public because they contain no customer data. The page loads its data from this API with
 * the key that its user enters.
 */
import { readdirSync, promises as files } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { CACHE_CONTROL, ETAG, IF_NONE_MATCH, LOCATION } from '#http/message/header-fields.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import { TEXT_STAYS_TEXT } from './page-policy.ts'
import { StaticContent } from './static-content.ts'

const PAGE_HEADERS = {
  'Content-Security-Policy': TEXT_STAYS_TEXT,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
}

/**
 * Headers for files whose names contain a hash of their content. Clients can cache such files without
 * revalidation.
 */
const FILE_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable, no-transform',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const NOT_BUILT = 'the console is not built: run npm ci with development packages, then npm run build'

/**
 * `directory` contains `index.html`, and its subdirectory `console` contains all other files. A file is read
 * at its first request.
 */
export function consoleRoutes(directory: string): Route[] {
  const page = new StaticContent(
    'text/html; charset=utf-8',
    () => builtFile(join(directory, 'index.html')),
    PAGE_HEADERS,
  )
  const folder = join(directory, 'console')
  const contents = new Map(namesIn(folder).map(name => [name, contentOf(folder, name)]))
  const kept = [ETAG, CACHE_CONTROL]
  const current = { description: 'The copy of the client is current.', headers: kept }
  return [
    defineRoute({
      method: 'GET',
      path: '/console',
      operationId: 'getConsole',
      summary: 'Open the console in a browser',
      family: 'native',
      access: 'public',
      headers: [IF_NONE_MATCH],
      refusals: [404],
      responses: {
        200: { description: 'The page.', schema: Type.String(), contentType: 'text/html', headers: kept },
        304: current,
      },
      handle: call => page.reply(call),
    }),
    // This path has no slash at its end. With a slash, the page would resolve relative paths incorrectly.
    defineRoute({
      method: 'GET',
      path: '/console/',
      operationId: 'getConsoleWithSlash',
      summary: 'Redirect to the console',
      family: 'native',
      access: 'public',
      isDescribed: false,
      responses: { 308: { description: 'Redirect to the console.', headers: [LOCATION] } },
      handle: () => ({ status: 308, body: undefined, headers: { Location: '../console' } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/console/{file}',
      operationId: 'getConsoleFile',
      summary: 'Read a file of the console',
      family: 'native',
      access: 'public',
      isDescribed: false,
      params: Type.Object({ file: Type.String() }),
      headers: [IF_NONE_MATCH],
      refusals: [404],
      responses: {
        200: { description: 'The file.', schema: Type.String(), headers: kept },
        304: current,
      },
      handle: call => {
        const content = contents.get(call.params.file)
        if (!content) throw new AuthzError('NOT_FOUND', 'the console has no such file')
        return content.reply(call)
      },
    }),
  ]
}

function contentOf(folder: string, name: string): StaticContent {
  const type = CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return new StaticContent(type, () => builtFile(join(folder, name)), FILE_HEADERS)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function builtFile(path: string): Promise<Uint8Array> {
  try {
    return await files.readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new AuthzError('NOT_FOUND', NOT_BUILT)
    throw error
  }
}
