/**
 * Compares all names in a model file with the known names. A mistyped name is thus reported with its location
 * before the service changes anything. The comparison also works if the form of the file has errors, which
 * `check-form.ts` reports.
 */
import type { Finding } from './findings.ts'
import type { KnownNames } from './known-names.ts'
import type { LocatedValue } from './located-value.ts'
import { checkConditionSets, checkRules } from './check-conditions.ts'
import { checkFacts } from './check-facts.ts'
import { NameCheck } from './name-check.ts'
import { checkResources, checkTenantRoles } from './check-schema.ts'
import { checkTests } from './check-tests.ts'

/** Returns findings about unknown names. O(file), plus O(known names) for each finding. */
export function nameFindings(file: LocatedValue, known: KnownNames): Finding[] {
  const check = new NameCheck(known)
  checkResources(file.at('resources'), check)
  checkTenantRoles(file.at('roles'), check)
  checkConditionSets(file.at('condition_sets'), check)
  checkRules(file.at('rules'), check)
  checkFacts(file, check)
  checkTests(file.at('tests'), check)
  return check.findings
}
