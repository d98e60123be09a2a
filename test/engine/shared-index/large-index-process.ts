/** A process with a large index, that says whether the kernel is to use huge pages for it. */
import { readFileSync } from 'node:fs'
import { LARGE_GRAPH_BYTES, Regions } from '#engine/shared-index/regions.ts'

const sizes = { header: 4_096, graph: LARGE_GRAPH_BYTES, closures: 0, schema: 0 }
const { graph } = Regions.emptyHandle(sizes)
const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)
const sizeOf = (mapping: string): number => Number(/^Size: +(\d+) kB/m.exec(mapping)?.[1]) * 1_024
const largest = mappings
  .toSorted((one, other) => sizeOf(other) - sizeOf(one))
  .find(one => / rw-p /.test(one))!
if (sizeOf(largest) < graph.byteLength) throw new Error('the graph has no mapping of its size')
process.stdout.write(/^VmFlags:.* hg\b/m.test(largest) ? 'marked' : 'not marked')
