/** Ways to sign in that the service offers: an issuer, a key, or both. */
import { useQuery } from '@tanstack/react-query'
import { signInWays } from './member-session.ts'

export function useSignInWays() {
  return useQuery({ queryKey: ['sign-in'], queryFn: signInWays, staleTime: Number.POSITIVE_INFINITY })
}
